export type ReadinessDeps = {
  pingDatabase: () => Promise<void>;
  pingRedis: () => Promise<boolean>;
  stopping: AbortSignal;
};

/** Whether a process can serve. Redis away is `degraded`, which still serves: checks are accepted without it. */
export const readiness =
  ({ pingDatabase, pingRedis, stopping }: ReadinessDeps) =>
  async () => {
    const [postgres, redis] = await Promise.all([
      pingDatabase().then(
        () => 'ok' as const,
        () => 'unreachable' as const,
      ),
      pingRedis().then((answers) => (answers ? ('ok' as const) : ('unreachable' as const))),
    ]);
    const ok = postgres === 'ok' && !stopping.aborted;
    const status = stopping.aborted ? 'stopping' : !ok ? 'unavailable' : redis === 'ok' ? 'ok' : 'degraded';
    return { ok, status, postgres, redis };
  };
