/** A server run beside the service from the project's own binaries. */
export type EmbeddedServer = {
  /** Connection string, password included; stays the same over restarts of the server. */
  url: string;
  /** TCP port on 127.0.0.1. */
  port: number;
  /** The real server process. */
  pid: number;
  /** True when a server left behind by a killed parent was taken over. */
  reused: boolean;
  /** True when this start made the data directory, so nothing an earlier start stored is there. */
  created: boolean;
  /** Resolves with a short reason once the process is gone, whoever ended it. Never rejects. */
  exited: Promise<string>;
  /**
   * Ends the server in order, and by force after `timeoutMs` (default 5 000 ms) or when `force` is aborted.
   * Resolves when the process is gone.
   */
  stop: (options?: StopServerOptions) => Promise<void>;
};

/** How patient a stop is. */
export type StopServerOptions = { timeoutMs?: number | undefined; force?: AbortSignal | undefined };
