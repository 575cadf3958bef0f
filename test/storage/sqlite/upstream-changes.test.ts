import { describe } from 'vitest';
import { describeUpstreamChanges } from '../contract/upstream-changes.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeUpstreamChanges(openNewDatabase));
