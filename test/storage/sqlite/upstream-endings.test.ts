import { describe } from 'vitest';
import { describeUpstreamEndings } from '../contract/upstream-endings.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeUpstreamEndings(openNewDatabase));
