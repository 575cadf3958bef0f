import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRandom } from '../flows/attacks/support/random.ts';
import { startGates, type Target } from './support/gates.ts';
import { type Recorder, startRecorder } from './support/recorder.ts';
import { attack, report, Watch } from './support/survey.ts';

const count = Number(process.env.GATEHOUSE_ATTACK_MESSAGES ?? 8000);
// Continuous integration sends the same messages each time; long runs send others.
const isNew = process.env.GATEHOUSE_ATTACK_MESSAGES !== undefined;
const seed = Number(process.env.GATEHOUSE_ATTACK_SEED ?? (isNew ? Date.now() % 1_000_000_000 : 20_260_728));

let watch: Watch;
let recorder: Recorder;
let gates: { targets: Target[]; stop(): Promise<void> };

beforeAll(async () => {
  watch = new Watch();
  recorder = await startRecorder((received) => watch.take(received));
  gates = await startGates(recorder);
}, 180_000);
afterAll(async () => {
  for (const lane of watch.lanes) lane.close();
  await gates.stop();
  await recorder.stop();
});

it(`None of ${count} hostile messages reaches a server as something that the token does not allow (FA-01, FA-02, FA-09, T-200, T-201, T-212, T-217)`, async () => {
  console.log(`GATEHOUSE_ATTACK_SEED=${seed} GATEHOUSE_ATTACK_MESSAGES=${count}`);
  const begun = performance.now();
  const statuses = await attack(watch, { targets: gates.targets, random: createRandom(seed), count });
  console.log(
    Math.round(performance.now() - begun),
    Object.fromEntries(statuses),
    Object.fromEntries(watch.allowed),
  );
  await watch.shrink(60_000);
  const found = report(watch.breaches.values());
  expect(found, `seed ${seed}\n${found}`).toBe('');
  // Every guard let through what it should, so nothing was refused just because everything was.
  for (const { name } of gates.targets) expect(watch.allowed.get(name) ?? 0, name).toBeGreaterThan(10);
}, 3_600_000);
