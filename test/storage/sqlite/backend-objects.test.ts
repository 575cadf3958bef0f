import { describe } from 'vitest';
import { describeBackendObjects } from '../contract/backend-objects.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeBackendObjects(openNewDatabase));
