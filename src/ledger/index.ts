export { createLedger, type Ledger, type RouteRecording } from './ledger.ts';
