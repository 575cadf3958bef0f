import { describe } from 'vitest';
import {
  describeClientChanges,
  describeClientDocuments,
  describeClients,
  describeInvitations,
} from '../../contract/clients.ts';
import { openNewDatabase } from '../subject.ts';

describe('SQLite', () => describeClients(openNewDatabase));

describe('SQLite', () => describeClientChanges(openNewDatabase));

describe('SQLite', () => describeClientDocuments(openNewDatabase));

describe('SQLite', () => describeInvitations(openNewDatabase));
