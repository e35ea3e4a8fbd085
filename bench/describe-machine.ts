import { cpus, loadavg, totalmem } from 'node:os';

/** The machine of the figures, which cannot be compared without it. */
export type Machine = {
  date: string;
  node: string;
  cpu: string;
  cores: number;
  memory_gib: number;
  /** One-minute load before the run. A value well above zero means that other programs affected the figures. */
  load_before: number;
};

/** Describes this machine. */
export const describeMachine = (now: Date): Machine => ({
  date: now.toISOString(),
  node: process.version,
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memory_gib: Math.round(totalmem() / 2 ** 30),
  load_before: Math.round((loadavg()[0] ?? 0) * 100) / 100,
});
