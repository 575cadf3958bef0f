import { describe } from 'vitest';
import { describeNodes } from '../../contract/nodes.ts';
import { openNewDatabase, usePostgres } from '../subject.ts';

const server = usePostgres();

describe('PostgreSQL', () => describeNodes(() => openNewDatabase(server())));
