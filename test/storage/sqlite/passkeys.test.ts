import { describe } from 'vitest';
import { describePasskeys } from '../contract/passkeys.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describePasskeys(openNewDatabase));
