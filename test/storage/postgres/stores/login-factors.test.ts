import { describe } from 'vitest';
import { describeOneTimeCodes, describePasskeys } from '../../contract/login-factors.ts';
import { openNewDatabase, usePostgres } from '../subject.ts';

const server = usePostgres();

describe('PostgreSQL', () => describeOneTimeCodes(() => openNewDatabase(server())));

describe('PostgreSQL', () => describePasskeys(() => openNewDatabase(server())));
