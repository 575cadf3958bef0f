import { describe } from 'vitest';
import { describeOneTimeCodes } from '../contract/one-time-codes.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeOneTimeCodes(openNewDatabase));
