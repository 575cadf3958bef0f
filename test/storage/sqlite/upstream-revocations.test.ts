import { describe } from 'vitest';
import { describeUpstreamRevocations } from '../contract/upstream-revocations.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeUpstreamRevocations(openNewDatabase));
