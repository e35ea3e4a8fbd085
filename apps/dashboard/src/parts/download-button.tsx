import { useMutation } from '@tanstack/react-query';
import { useApi } from '../api/use-api.js';
import { Button } from './button.js';
import { Refusal } from './refusal.js';
import { saveFile } from './save-file.js';

type DownloadButtonProps = { path: string; fileName: string; children: string; small?: boolean };

/** Fetches a file and saves it; says why when it is not there yet, which a plain link would not. */
export const DownloadButton = ({ path, fileName, children, small = false }: DownloadButtonProps) => {
  const api = useApi();
  const download = useMutation({
    mutationFn: async () =>
      saveFile(await (await api.send('GET', path, { headers: { Accept: '*/*' } })).blob(), fileName),
  });
  return (
    <>
      <Button small={small} isPending={download.isPending} onPress={() => download.mutate()}>
        {children}
      </Button>
      <Refusal error={download.error} />
    </>
  );
};
