import { describe } from 'vitest';
import { describeClientDocuments } from '../contract/client-documents.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeClientDocuments(openNewDatabase));
