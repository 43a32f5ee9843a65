import t from 'tap'
import { isForbidden } from '../../../functions/domain/network/address-policy.ts'

const OUTSIDE = { inCluster: false, apiServer: [] }
const INSIDE = { inCluster: true, apiServer: [{ address: '10.96.0.1', port: 443 }] }

for (const [what, addresses] of [
  ['link-local', ['169.254.0.1', '169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'febf::1']],
  ['unspecified', ['0.0.0.0', '0.1.2.3', '::', '0:0:0:0:0:0:0:0']],
  ['multicast or broadcast', ['224.0.0.1', '239.255.255.255', 'ff02::1', '255.255.255.255']],
  [
    'a metadata service',
    [
      ...['100.100.100.200', '168.63.129.16', '192.0.0.192'],
      ...['fd00:ec2::254', 'FD00:EC2::0254', 'fd00:ec2::23', 'fd00:ec2:ffff::1'],
      ...['fd20:ce::254', 'FD20:00CE::254', 'fd00:42::42'],
    ],
  ],
  [
    'IPv4-mapped',
    ['::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '0:0:0:0:0:ffff:a9fe:a9fe', '::FFFF:0.0.0.0'],
  ],
  ['IPv4-compatible or -translated', ['::169.254.169.254', '::ffff:0:169.254.169.254']],
  ['NAT64', ['64:ff9b::169.254.169.254', '64:ff9b:1::a9fe:a9fe', '64:ff9b:1:2:3:4:a9fe:a9fe']],
  ['6to4', ['2002:a9fe:a9fe::1', '2002:6464:64c8::']],
  ['Teredo', ['2001:0:4136:e378:8000:63bf:5601:5601']],
  ['ISATAP', ['2001:db8::5efe:169.254.169.254', '2001:db8::200:5efe:a9fe:a9fe']],
  ['no address at all', ['', 'localhost', '2852039166', '0xa9fea9fe', '1.2.3', '1.2.3.256', 'fe80', '%']],
] as const) {
  t.test(`${what} is forbidden, wherever it runs`, async (t) => {
    for (const address of addresses) {
      t.equal(isForbidden({ address, port: 443 }, OUTSIDE), true, address)
      t.equal(isForbidden({ address, port: 443 }, INSIDE), true, address)
    }
  })
}

const LOOPBACKS = [
  '127.0.0.1',
  '127.255.0.9',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
  '64:ff9b::7f00:1',
]

t.test('loopback is forbidden in a cluster, and only there', async (t) => {
  for (const address of LOOPBACKS) {
    t.equal(isForbidden({ address, port: 8443 }, INSIDE), true, address)
    t.equal(isForbidden({ address, port: 8443 }, OUTSIDE), false, address)
  }
})

t.test('the API server is forbidden at its own port alone, in every notation', async (t) => {
  const policy = { inCluster: false, apiServer: [...INSIDE.apiServer, { address: 'fd00::a:1', port: 6443 }] }
  for (const address of ['10.96.0.1', '::ffff:10.96.0.1', '::ffff:a60:1', '2002:a60:1::']) {
    t.equal(isForbidden({ address, port: 443 }, policy), true, address)
    t.equal(isForbidden({ address, port: 22 }, policy), false, address)
  }
  for (const address of ['fd00::a:1', 'FD00:0:0:0:0:0:A:1', 'fd00::a:1%eth0'])
    t.equal(isForbidden({ address, port: 6443 }, policy), true, address)
  t.equal(isForbidden({ address: '10.96.0.2', port: 443 }, policy), false)
})

t.test('private and public addresses are allowed', async (t) => {
  const addresses = [
    '10.0.0.7',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '140.82.121.4',
    '169.253.255.255',
    '223.1.1.1',
  ]
  const others = [
    '2001:db8::1',
    'fd00::1',
    ...['fd00:ec1::254', 'fd00:ec3::254', 'fd20:ce::253', 'fd00:42::43'],
    '2606:50c0:8000::154',
    '64:ff9b::8c52:7904',
    '2002:8c52:7904::1',
    '::ffff:10.0.0.7',
  ]
  for (const address of [...addresses, ...others])
    t.equal(isForbidden({ address, port: 443 }, INSIDE), false, address)
})
