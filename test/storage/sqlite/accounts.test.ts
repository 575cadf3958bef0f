import { describe } from 'vitest';
import { describeAccounts } from '../contract/accounts.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeAccounts(openNewDatabase));
