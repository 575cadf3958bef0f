import { awaitTurn } from './turns.ts';

// All clients of a run are started at once. What takes time, loading them, is done when it is their turn.
await awaitTurn();
await import('./everything-client-run.ts');
