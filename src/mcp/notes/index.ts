export { notesScopeRules, notesScopes } from './scopes.ts';
export { createNotesServer } from './server.ts';
