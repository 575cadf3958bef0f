import { describe } from 'vitest';
import { describeBackendCredentials } from '../contract/backend-credentials.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeBackendCredentials(openNewDatabase));
