import { describe } from 'vitest';
import { describeAccounts, describeIdentities, describeLastLoginMethod } from '../../contract/accounts.ts';
import { openNewDatabase, usePostgres } from '../subject.ts';

const server = usePostgres();

describe('PostgreSQL', () => describeAccounts(() => openNewDatabase(server())));

describe('PostgreSQL', () => describeIdentities(() => openNewDatabase(server())));

describe('PostgreSQL', () => describeLastLoginMethod(() => openNewDatabase(server())));
