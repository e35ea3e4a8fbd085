import type { RequestListener, ServerResponse } from 'node:http';

/**
 * From the moment that `stopping` aborts, each answer ends its connection (`Connection: close`), so that a client sends its next
 * request on a new one, which goes to another process. Otherwise the request would be lost when it is on its way while this
 * process closes the connection. Wrap every request listener with the returned function.
 */
export const endConnections = (stopping: AbortSignal): ((listener: RequestListener) => RequestListener) => {
  const unanswered = new Set<ServerResponse>();
  const end = (res: ServerResponse): void => {
    res.shouldKeepAlive = false;
  };
  stopping.addEventListener('abort', () => unanswered.forEach(end));
  return (listener) => (req, res) => {
    if (stopping.aborted) end(res);
    else {
      unanswered.add(res);
      res.once('close', () => unanswered.delete(res));
    }
    listener(req, res);
  };
};
