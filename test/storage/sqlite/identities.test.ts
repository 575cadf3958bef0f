import { describe } from 'vitest';
import { describeIdentities } from '../contract/identities.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeIdentities(openNewDatabase));
