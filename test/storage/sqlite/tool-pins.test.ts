import { describe } from 'vitest';
import { describeToolPins } from '../contract/tool-pins.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeToolPins(openNewDatabase));
