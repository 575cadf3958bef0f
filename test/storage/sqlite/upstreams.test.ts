import { describe } from 'vitest';
import { describeUpstreams } from '../contract/upstreams.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeUpstreams(openNewDatabase));
