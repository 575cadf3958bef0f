import type { ScopeRules } from '../scopes/scope-rules.ts';

/** The scopes of the notes server, each with the sentence the consent page shows. */
export const notesScopes: Record<'notes:read' | 'notes:write', string> = {
  'notes:read': 'Read and search your notes.',
  'notes:write': 'Add notes, and delete any of your notes.',
};

/** Scopes that the notes server's tools, prompt and resources need. */
export const notesScopeRules: ScopeRules = {
  tools: {
    add_note: ['notes:write'],
    search_notes: ['notes:read'],
    delete_note: ['notes:write'],
  },
  prompts: { summarize_notes: ['notes:read'] },
  resources: { 'notes://': ['notes:read'] },
};
