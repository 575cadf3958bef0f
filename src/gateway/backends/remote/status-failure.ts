import type { BackendFailure } from '../backend-errors.ts';

/** Statuses that say nothing about what the server can be asked: credentials, rights and load. */
const named: Readonly<Record<number, BackendFailure>> = {
  401: 'backend_wants_login',
  403: 'backend_forbids',
  407: 'backend_forbids',
  408: 'backend_timed_out',
  429: 'backend_overloaded',
  503: 'backend_overloaded',
};

/**
 * Maps a status other than 2xx to a failure. Nothing of a 401 is read, its `resource_metadata` least of all: a server
 * does not make us fetch anything (T-161).
 */
export function failureOfStatus(status: number): BackendFailure {
  if (named[status]) return named[status];
  return status >= 500 ? 'backend_failed' : 'backend_refused';
}
