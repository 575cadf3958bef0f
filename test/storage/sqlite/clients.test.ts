import { describe } from 'vitest';
import { describeClients } from '../contract/clients.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeClients(openNewDatabase));
