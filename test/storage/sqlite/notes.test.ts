import { describe } from 'vitest';
import { describeNotes } from '../contract/notes.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeNotes(openNewDatabase));
