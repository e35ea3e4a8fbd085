import { createContext, useContext } from 'react';

/** Whether the stream of page updates is connected. */
export const LiveContext = createContext(false);

/** True while the server pushes page updates; false while pages must poll. */
export const useLive = (): boolean => useContext(LiveContext);
