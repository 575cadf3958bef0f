import { describe } from 'vitest';
import { describeWaysIn } from '../contract/ways-in.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeWaysIn(openNewDatabase));
