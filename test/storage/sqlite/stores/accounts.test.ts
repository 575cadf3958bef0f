import { describe } from 'vitest';
import { describeAccounts, describeIdentities, describeLastLoginMethod } from '../../contract/accounts.ts';
import { openNewDatabase } from '../subject.ts';

describe('SQLite', () => describeAccounts(openNewDatabase));

describe('SQLite', () => describeIdentities(openNewDatabase));

describe('SQLite', () => describeLastLoginMethod(openNewDatabase));
