import { cpus, loadavg, totalmem } from 'node:os';

/** Where figures came from; without it they mean nothing. */
export type Machine = {
  date: string;
  node: string;
  cpu: string;
  cores: number;
  memory_gib: number;
  /** One-minute load before the run: well above zero means that somebody else was measured too. */
  load_before: number;
};

/** Describes this machine at this moment. */
export const describeMachine = (now: Date): Machine => ({
  date: now.toISOString(),
  node: process.version,
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memory_gib: Math.round(totalmem() / 2 ** 30),
  load_before: Math.round((loadavg()[0] ?? 0) * 100) / 100,
});
