import { setTimeout as pause } from 'node:timers/promises';
import { isNotConnectionError, type Job, LockManager, Worker } from 'bullmq';

/** How soon a worker tries again to take a job after Redis refused that, as while its memory is full. */
const RETRY_AFTER_REFUSAL_MS = 1_000;

/** Renews the lock of a job until the last of its runs in this worker has ended. */
class LocksOfRuns extends LockManager {
  readonly #runs = new Map<string, number>();

  begin(jobId: string): void {
    this.#runs.set(jobId, (this.#runs.get(jobId) ?? 0) + 1);
  }

  end(jobId: string): void {
    const left = (this.#runs.get(jobId) ?? 1) - 1;
    if (left > 0) return void this.#runs.set(jobId, left);
    this.#runs.delete(jobId);
    super.untrackJob(jobId);
  }

  override untrackJob(jobId: string): void {
    if ((this.#runs.get(jobId) ?? 0) <= 1) super.untrackJob(jobId);
  }
}

/** BullMQ's worker without two of its faults (6.7). */
export class SteadyWorker<Data> extends Worker<Data> {
  /** BullMQ tries again at once after a refusal, which takes most of a processor. After an error of the connection it waits itself. */
  protected override async moveToActive(token: string, name?: string): Promise<Job<Data>> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      if (isNotConnectionError(error as Error)) await pause(RETRY_AFTER_REFUSAL_MS, undefined, { ref: false });
      throw error;
    }
  }

  protected override createLockManager(): void {
    const { lockDuration = 0, lockRenewTime = lockDuration / 2 } = this.opts;
    // As BullMQ does itself, where `trace` has another type.
    const worker = this as unknown as ConstructorParameters<typeof LockManager>[0];
    this.lockManager = new LocksOfRuns(worker, { lockRenewTime, lockDuration, workerId: this.id });
  }

  /**
   * A run that puts its job back, to be run again at once, fetches the next job before it ends. Meanwhile the job may run again in
   * this worker. BullMQ would no longer renew the lock of that run, and start the job once more while it is still going on.
   */
  override async processJob(...call: Parameters<Worker<Data>['processJob']>): ReturnType<Worker<Data>['processJob']> {
    const locks = this.lockManager as LocksOfRuns;
    const [{ id = '' }] = call;
    locks.begin(id);
    try {
      return await super.processJob(...call);
    } finally {
      locks.end(id);
    }
  }
}
