export type { ArgumentKeeping } from './arguments.ts';
export {
  argumentsBox,
  contextOfArguments,
  createLedger,
  type Ledger,
  type RouteRecording,
} from './ledger.ts';
