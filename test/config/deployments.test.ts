// The files for Kubernetes, Helm and Compose. No cluster runs here: the manifests are checked against the API schemas of
// Kubernetes and against the server that they start. test/flows/cluster/deployments.test.ts starts it.
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Ajv } from 'ajv';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Namespace, Service } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { parseSettings } from '../../src/options.ts';
import { repository } from '../support/program.ts';

function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}

const { version } = JSON.parse(read('package.json')) as { version: string };

const models = {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Namespace,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
};

type Kind = keyof typeof models;

/** A manifest that its schema accepts. */
class Manifests {
  readonly #byKind = new Map<string, unknown>();

  constructor(manifests: unknown[]) {
    for (const manifest of manifests) {
      const { apiVersion, kind } = manifest as { apiVersion: string; kind: Kind };
      const model = new models[kind](manifest as never);
      expect([model.apiVersion, model.kind]).toEqual([apiVersion, kind]);
      model.validate();
      this.#byKind.set(kind, model);
    }
  }

  get kinds(): string[] {
    return [...this.#byKind.keys()].sort();
  }

  find<K extends Kind>(kind: K): InstanceType<(typeof models)[K]> {
    return this.#byKind.get(kind) as InstanceType<(typeof models)[K]>;
  }
}

/** Checks that manifests name each other, and the server, rightly. */
function checkTogether(manifests: Manifests): void {
  const pod = manifests.find('Deployment').spec?.template;
  const labels = pod?.metadata?.labels;
  const [container] = pod?.spec?.containers ?? [];
  const ports = container?.ports?.map(({ name, containerPort }) => [name, containerPort]);
  expect(ports).toEqual([
    ['http', 3000],
    ['nodes', 7001],
    ['metrics', 9464],
  ]);
  expect(container?.image).toBe(`gatehouse:${version}`);
  expect(manifests.find('Service').spec?.selector).toEqual(labels);
  expect(manifests.find('Deployment').spec?.selector.matchLabels).toEqual(labels);
  expect(manifests.find('PodDisruptionBudget').spec?.selector?.matchLabels).toEqual(labels);
  expect(manifests.find('NetworkPolicy').spec?.podSelector?.matchLabels).toEqual(labels);
  expect(manifests.find('HorizontalPodAutoscaler').spec?.scaleTargetRef.name).toBe('gatehouse');
  const paths = [container?.startupProbe, container?.readinessProbe, container?.livenessProbe];
  expect(paths.map((probe) => probe?.httpGet?.path)).toEqual(['/readyz', '/readyz', '/healthz']);
  // Kubernetes would set GATEHOUSE_PORT for a Service of this name.
  expect(pod?.spec?.enableServiceLinks).toBe(false);
  // A pod that ends still serves for as long as balancers may send it requests, and lets calls end.
  expect(pod?.spec?.terminationGracePeriodSeconds).toBeGreaterThan(5 + 8 + 2);
}

/** Checks the settings of a node, and returns the variables that they name. */
function variablesOf(text: string): string[] {
  const { $schema: _schema, ...settings } = JSON.parse(text) as Record<string, unknown>;
  parseSettings(settings);
  return [...text.matchAll(/"env":\s*"(\w+)"/g)].map(([, name = '']) => name).sort();
}

describe('the files for Kubernetes', () => {
  const { resources, images, configMapGenerator } = parse(read('config/kubernetes/kustomization.yaml')) as {
    resources: string[];
    images: { name: string; newTag: string }[];
    configMapGenerator: { files: string[] }[];
  };

  /** Reads the resources with the tag that kustomize gives the image. */
  function readResources(): Manifests {
    const [image] = images;
    return new Manifests(
      resources.map((file) =>
        parse(
          read(`config/kubernetes/${file}`).replace(
            /image: gatehouse$/m,
            `image: ${image?.name}:${image?.newTag}`,
          ),
        ),
      ),
    );
  }

  it('are all named by the kustomization, and fit the API schemas and each other', () => {
    const all = globSync('*', { cwd: join(repository, 'config/kubernetes') });
    const named = [...resources, ...configMapGenerator.flatMap(({ files }) => files), 'kustomization.yaml'];
    expect(named.sort()).toEqual(all.sort());
    const manifests = readResources();
    expect(manifests.kinds).toEqual(Object.keys(models).filter((kind) => kind !== 'ConfigMap'));
    checkTogether(manifests);
  });

  it('give each variable that the settings name', () => {
    const [container] = readResources().find('Deployment').spec?.template.spec?.containers ?? [];
    const given = container?.env?.map(({ name }) => name).sort();
    expect(given).toEqual(variablesOf(read('config/kubernetes/gatehouse.json')));
  });
});

describe('the chart of Helm', () => {
  const values = parse(read('config/helm/gatehouse/values.yaml')) as Record<string, unknown>;
  const accepts = new Ajv().compile(JSON.parse(read('config/helm/gatehouse/values.schema.json')) as object);

  it('has the version of the package, and default values that fit its schema', () => {
    const chart = parse(read('config/helm/gatehouse/Chart.yaml')) as { version: string; appVersion: string };
    expect([chart.version, chart.appVersion]).toEqual([version, version]);
    expect([accepts(values), accepts.errors]).toEqual([true, null]);
    parseSettings(values.settings as object);
  });

  it.each([
    ['a public URL without TLS', { settings: { publicUrl: 'http://mcp.example.com' } }],
    [
      'settings that are its own',
      { settings: { publicUrl: 'https://mcp.example.com', cluster: { port: 1 } } },
    ],
    ['a value that it does not know', { replicaCount: 3 }],
  ])('refuses %s', (_name, given) => {
    expect(accepts({ ...values, ...given })).toBe(false);
  });

  it('names no value that values.yaml does not have', () => {
    for (const file of globSync('config/helm/gatehouse/templates/*', { cwd: repository }))
      for (const [path, names = ''] of read(file).matchAll(/\.Values\.([\w.]+)/g)) {
        let value: unknown = values;
        for (const name of names.split('.')) value = (value as Record<string, unknown> | undefined)?.[name];
        expect(value, `${basename(file)}: ${path}`).toBeDefined();
      }
  });

  it.runIf(process.env.GATEHOUSE_HELM)(
    'is rendered by Helm to manifests that fit the API schemas and each other',
    () => {
      const text = execFileSync(
        process.env.GATEHOUSE_HELM ?? '',
        ['template', 'gatehouse', 'config/helm/gatehouse'],
        {
          cwd: repository,
          encoding: 'utf8',
        },
      );
      const manifests = new Manifests(parseAllDocuments(text).map((document) => document.toJS() as unknown));
      expect(manifests.kinds).toEqual(Object.keys(models).filter((kind) => kind !== 'Namespace'));
      checkTogether(manifests);
      const { 'gatehouse.json': settings = '' } = manifests.find('ConfigMap').data ?? {};
      const [container] = manifests.find('Deployment').spec?.template.spec?.containers ?? [];
      expect(container?.env?.map(({ name }) => name).sort()).toEqual(variablesOf(settings));
    },
  );
});

describe('the compose file', () => {
  const { services, volumes } = parse(read('config/compose/compose.yaml'), { merge: true }) as {
    services: Record<string, { environment: Record<string, string>; image: string; volumes: string[] }>;
    volumes: Record<string, unknown>;
  };

  it('starts two nodes that differ in nothing but their address, each by its own name', () => {
    const { 'gatehouse-1': first, 'gatehouse-2': second } = services;
    for (const name of ['gatehouse-1', 'gatehouse-2'])
      expect(services[name]?.environment.GATEHOUSE_NODE_ADDRESS).toBe(name);
    expect({
      ...second,
      environment: { ...second?.environment, GATEHOUSE_NODE_ADDRESS: 'gatehouse-1' },
    }).toEqual(first);
    expect(first?.image).toBe(`gatehouse:${version}`);
    for (const name of variablesOf(read('config/compose/gatehouse.json')))
      expect(first?.environment).toHaveProperty(name);
  });

  it('mounts files that are there, and volumes that it declares', () => {
    for (const source of Object.values(services).flatMap((service) =>
      service.volumes.map((one) => one.split(':')[0] ?? ''),
    ))
      if (source.startsWith('./')) expect(read(`config/compose/${source}`)).not.toBe('');
      else expect(volumes).toHaveProperty(source);
  });

  it('sends requests to both nodes by Caddy', () => {
    expect(read('config/compose/Caddyfile')).toContain('reverse_proxy gatehouse-1:3000 gatehouse-2:3000');
  });
});
