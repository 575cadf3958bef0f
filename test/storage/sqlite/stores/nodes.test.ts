import { describe } from 'vitest';
import { describeNodes } from '../../contract/nodes.ts';
import { openNewDatabase } from '../subject.ts';

describe('SQLite', () => describeNodes(openNewDatabase));
