export { type Deliver, deliverByHttp, deliverToFile, startExporter } from './exporter.ts';
export { createLedger, type Ledger, outcomeOf, type RouteRecording } from './ledger.ts';
