import { describe } from 'vitest';
import { describeArtifacts } from '../contract/artifacts.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeArtifacts(openNewDatabase));
