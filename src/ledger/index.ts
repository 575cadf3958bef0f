export { type Deliver, deliverByHttp, deliverToFile, startExporter } from './exporter.ts';
export { createLedger, type Ledger, type RouteRecording } from './ledger.ts';
