export { deliverByHttp, deliverToFile } from './deliveries.ts';
export { type Deliver, startExporter } from './exporter.ts';
export { createLedger, type Ledger, type RouteRecording } from './ledger.ts';
