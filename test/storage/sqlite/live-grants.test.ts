import { describe } from 'vitest';
import { describeLiveGrants } from '../contract/live-grants.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeLiveGrants(openNewDatabase));
