import { createContext, useContext } from 'react';

/** Whether the server's news arrive at present. */
export const LiveContext = createContext(false);

/** True while the server tells by itself what has changed; false while pages have to ask. */
export const useLive = (): boolean => useContext(LiveContext);
