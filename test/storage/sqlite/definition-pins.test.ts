import { describe } from 'vitest';
import { describeDefinitionPins } from '../contract/definition-pins.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeDefinitionPins(openNewDatabase));
