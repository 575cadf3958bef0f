import { describe } from 'vitest';
import { describeOneTimeCodes, describePasskeys } from '../../contract/login-factors.ts';
import { openNewDatabase } from '../subject.ts';

describe('SQLite', () => describeOneTimeCodes(openNewDatabase));

describe('SQLite', () => describePasskeys(openNewDatabase));
