import { describe } from 'vitest';
import { describeInvitations } from '../contract/invitations.ts';
import { openNewDatabase } from './subject.ts';

describe('SQLite', () => describeInvitations(openNewDatabase));
