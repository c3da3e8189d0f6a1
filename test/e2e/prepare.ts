import { installN8n } from '../../lab/playground/install';
import { packPackage } from '../../lab/playground/n8n';
import { N8N } from '../../lab/fixture/fixture';

/** Installs n8n and packs the package, before the suites run side by side. */
export default async function prepare(): Promise<void> {
	await installN8n(N8N);
	await packPackage();
}
