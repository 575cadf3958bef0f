export { createLedger, type Ledger, outcomeOf, type RouteRecording } from './ledger.ts';
