import { describe } from 'vitest';
import { describeClientChanges } from '../contract/client-changes.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeClientChanges(openNewDatabase));
