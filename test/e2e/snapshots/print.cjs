/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict'
exports[`test/e2e/print.test.ts > TAP > with a real API server > kubectl describe: a-succeeded > must match snapshot 1`] = `
Name:         a-succeeded
Namespace:    team-01234567
Labels:       <none>
Annotations:  commitlet.dev/requested-by: admin
              commitlet.dev/requester: {"username":"admin","groups":["system:masters","system:authenticated"],"generation":1}
              commitlet.dev/requester-signature: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
API Version:  commitlet.dev/v1
Kind:         GitCommit
Metadata:
  Creation Timestamp:  2030-01-02T03:04:05Z
  Generation:          1
  Resource Version:    1234
  UID:                 01234567-89ab-cdef-fedc-ba9876543210
Spec:
  Credentials:
    Secret Name:  git
    Token Key:    token
  Message:        Record the shop settings
  Repository:     https://localhost:8443/acme/config.git
  Resource Ref:
    API Version:  v1
    Kind:         ConfigMap
    Name:         shop
    Path:         shop/settings.yaml
Status:
  Attempts:  1
  Commit:
    Branch:     main
    Path:       shop/settings.yaml
    Sha:        0123456789abcdef0123456789abcdef01234567
    Short SHA:  0123456789ab
  Conditions:
    Last Transition Time:  2030-01-02T03:04:05Z
    Message:               Committed as 0123456789ab to the branch main at shop/settings.yaml.
    Observed Generation:   1
    Reason:                Succeeded
    Status:                True
    Type:                  Ready
  Credentials Used:        Primary
  Last Attempt Time:       2030-01-02T03:04:05Z
  Observed Generation:     1
  Phase:                   Succeeded
  Started At:              2030-01-02T03:04:05Z
Events:
  Type    Reason     Age    From                    Message
  ----    ------     ----   ----                    -------
  Normal  Succeeded  10s    commitlet.dev/function  Committed as 0123456789ab to the branch main at shop/settings.yaml.

`

exports[`test/e2e/print.test.ts > TAP > with a real API server > kubectl describe: b-up-to-date > must match snapshot 1`] = `
Name:         b-up-to-date
Namespace:    team-01234567
Labels:       <none>
Annotations:  commitlet.dev/requested-by: admin
              commitlet.dev/requester: {"username":"admin","groups":["system:masters","system:authenticated"],"generation":1}
              commitlet.dev/requester-signature: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
API Version:  commitlet.dev/v1
Kind:         GitCommit
Metadata:
  Creation Timestamp:  2030-01-02T03:04:05Z
  Generation:          1
  Resource Version:    1234
  UID:                 01234567-89ab-cdef-fedc-ba9876543210
Spec:
  Credentials:
    Secret Name:  git
    Token Key:    token
  Message:        Record the shop settings
  Repository:     https://localhost:8443/acme/config.git
  Resource Ref:
    API Version:  v1
    Kind:         ConfigMap
    Name:         shop
    Path:         shop/settings.yaml
Status:
  Attempts:  1
  Commit:
    Branch:     main
    Path:       shop/settings.yaml
    Sha:        0123456789abcdef0123456789abcdef01234567
    Short SHA:  0123456789ab
  Conditions:
    Last Transition Time:  2030-01-02T03:04:05Z
    Message:               The branch main already holds this content at shop/settings.yaml; no commit was needed.
    Observed Generation:   1
    Reason:                UpToDate
    Status:                True
    Type:                  Ready
  Credentials Used:        Primary
  Last Attempt Time:       2030-01-02T03:04:05Z
  Observed Generation:     1
  Phase:                   Succeeded
  Started At:              2030-01-02T03:04:05Z
Events:
  Type    Reason    Age    From                    Message
  ----    ------    ----   ----                    -------
  Normal  UpToDate  10s    commitlet.dev/function  The branch main already holds this content at shop/settings.yaml; no commit was needed.

`

exports[`test/e2e/print.test.ts > TAP > with a real API server > kubectl describe: c-retrying > must match snapshot 1`] = `
Name:         c-retrying
Namespace:    team-01234567
Labels:       <none>
Annotations:  commitlet.dev/requested-by: admin
              commitlet.dev/requester: {"username":"admin","groups":["system:masters","system:authenticated"],"generation":1}
              commitlet.dev/requester-signature: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
API Version:  commitlet.dev/v1
Kind:         GitCommit
Metadata:
  Creation Timestamp:  2030-01-02T03:04:05Z
  Generation:          1
  Resource Version:    1234
  UID:                 01234567-89ab-cdef-fedc-ba9876543210
Spec:
  Credentials:
    Secret Name:  git
    Token Key:    token
  Message:        Record the shop settings
  Repository:     https://localhost:8443/acme/broken.git
  Resource Ref:
    API Version:  v1
    Kind:         ConfigMap
    Name:         shop
    Path:         shop/settings.yaml
Status:
  Attempts:  1
  Conditions:
    Last Transition Time:  2030-01-02T03:04:05Z
    Message:               https://localhost:8443/acme/broken.git cannot answer at the moment (503); Commitlet retries automatically.
    Observed Generation:   1
    Reason:                ProviderUnavailable
    Status:                False
    Type:                  Ready
    Last Transition Time:  2030-01-02T03:04:05Z
    Message:               https://localhost:8443/acme/broken.git cannot answer at the moment (503); Commitlet retries automatically.
    Observed Generation:   1
    Reason:                ProviderUnavailable
    Status:                True
    Type:                  Reconciling
  Last Attempt Time:       2030-01-02T03:04:05Z
  Next Attempt Time:       2030-01-02T03:04:05Z
  Nothing Pushed Time:     2030-01-02T03:04:05Z
  Observed Generation:     1
  Phase:                   Retrying
  Started At:              2030-01-02T03:04:05Z
Events:
  Type     Reason               Age    From                    Message
  ----     ------               ----   ----                    -------
  Warning  ProviderUnavailable  10s    commitlet.dev/function  https://localhost:8443/acme/broken.git cannot answer at the moment (503); Commitlet retries automatically.

`

exports[`test/e2e/print.test.ts > TAP > with a real API server > kubectl describe: d-push-rejected > must match snapshot 1`] = `
Name:         d-push-rejected
Namespace:    team-01234567
Labels:       <none>
Annotations:  commitlet.dev/requested-by: admin
              commitlet.dev/requester: {"username":"admin","groups":["system:masters","system:authenticated"],"generation":1}
              commitlet.dev/requester-signature: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
API Version:  commitlet.dev/v1
Kind:         GitCommit
Metadata:
  Creation Timestamp:  2030-01-02T03:04:05Z
  Generation:          1
  Resource Version:    1234
  UID:                 01234567-89ab-cdef-fedc-ba9876543210
Spec:
  Credentials:
    Secret Name:  git
    Token Key:    token
  Message:        Record the shop settings
  Repository:     https://localhost:8443/acme/other.git
  Resource Ref:
    API Version:  v1
    Kind:         ConfigMap
    Name:         shop
    Path:         shop/settings.yaml
Status:
  Attempts:  1
  Conditions:
    Last Transition Time:  2030-01-02T03:04:05Z
    Message:               https://localhost:8443/acme/other.git refuses the commit and reports "main is protected: open a pull request"; use another branch or path, or ask a maintainer of the repository.
    Observed Generation:   1
    Reason:                PushRejected
    Status:                False
    Type:                  Ready
    Last Transition Time:  2030-01-02T03:04:05Z
    Message:               https://localhost:8443/acme/other.git refuses the commit and reports "main is protected: open a pull request"; use another branch or path, or ask a maintainer of the repository.
    Observed Generation:   1
    Reason:                PushRejected
    Status:                True
    Type:                  Stalled
  Last Attempt Time:       2030-01-02T03:04:05Z
  Observed Generation:     1
  Phase:                   Failed
  Started At:              2030-01-02T03:04:05Z
Events:
  Type     Reason        Age    From                    Message
  ----     ------        ----   ----                    -------
  Warning  PushRejected  10s    commitlet.dev/function  https://localhost:8443/acme/other.git refuses the commit and reports "main is protected: open a pull request"; use another branch or path, or ask a maintainer of the repository.

`

exports[`test/e2e/print.test.ts > TAP > with a real API server > kubectl describe: e-wrong-token > must match snapshot 1`] = `
Name:         e-wrong-token
Namespace:    team-01234567
Labels:       <none>
Annotations:  commitlet.dev/requested-by: admin
              commitlet.dev/requester: {"username":"admin","groups":["system:masters","system:authenticated"],"generation":1}
              commitlet.dev/requester-signature: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
API Version:  commitlet.dev/v1
Kind:         GitCommit
Metadata:
  Creation Timestamp:  2030-01-02T03:04:05Z
  Generation:          1
  Resource Version:    1234
  UID:                 01234567-89ab-cdef-fedc-ba9876543210
Spec:
  Credentials:
    Secret Name:  old
    Token Key:    token
  Message:        Record the shop settings
  Repository:     https://localhost:8443/acme/config.git
  Resource Ref:
    API Version:  v1
    Kind:         ConfigMap
    Name:         shop
    Path:         shop/settings.yaml
Status:
  Attempts:  1
  Conditions:
    Last Transition Time:  2030-01-02T03:04:05Z
    Message:               https://localhost:8443/acme/config.git does not accept the user name and token or password (401); put valid ones into the Secret.
    Observed Generation:   1
    Reason:                AuthenticationFailed
    Status:                False
    Type:                  Ready
    Last Transition Time:  2030-01-02T03:04:05Z
    Message:               https://localhost:8443/acme/config.git does not accept the user name and token or password (401); put valid ones into the Secret.
    Observed Generation:   1
    Reason:                AuthenticationFailed
    Status:                True
    Type:                  Stalled
  Last Attempt Time:       2030-01-02T03:04:05Z
  Next Attempt Time:       2030-01-02T03:04:05Z
  Nothing Pushed Time:     2030-01-02T03:04:05Z
  Observed Generation:     1
  Phase:                   Retrying
  Started At:              2030-01-02T03:04:05Z
  Waiting For:
    Field:    spec.credentials
    Version:  0123456789abcdef
Events:
  Type     Reason                Age    From                    Message
  ----     ------                ----   ----                    -------
  Warning  AuthenticationFailed  10s    commitlet.dev/function  https://localhost:8443/acme/config.git does not accept the user name and token or password (401); put valid ones into the Secret.

`

exports[`test/e2e/print.test.ts > TAP > with a real API server > kubectl describe: f-fresh > must match snapshot 1`] = `
Name:         f-fresh
Namespace:    team-01234567
Labels:       <none>
Annotations:  commitlet.dev/requested-by: admin
              commitlet.dev/requester: {"username":"admin","groups":["system:masters","system:authenticated"],"generation":1}
              commitlet.dev/requester-signature: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
API Version:  commitlet.dev/v1
Kind:         GitCommit
Metadata:
  Creation Timestamp:  2030-01-02T03:04:05Z
  Generation:          1
  Resource Version:    1234
  UID:                 01234567-89ab-cdef-fedc-ba9876543210
Spec:
  Credentials:
    Secret Name:  git
    Token Key:    token
  Message:        Record the shop settings
  Repository:     https://localhost:8443/acme/config.git
  Resource Ref:
    API Version:  v1
    Kind:         ConfigMap
    Name:         shop
    Path:         shop/settings.yaml
Status:
  Observed Generation:  -1
  Phase:                Pending
Events:                 <none>

`

exports[`test/e2e/print.test.ts > TAP > with a real API server > kubectl get -o wide > must match snapshot 1`] = `
NAME              READY   REASON                 BRANCH   COMMIT         AGE    REPOSITORY                                INTERVAL   NEXT ATTEMPT           OBSERVED   HANDLED   MESSAGE
a-succeeded       True    Succeeded              main     0123456789ab   10s    https://localhost:8443/acme/config.git                                     1                    Committed as 0123456789ab to the branch main at shop/settings.yaml.
b-up-to-date      True    UpToDate               main     0123456789ab   10s    https://localhost:8443/acme/config.git                                     1                    The branch main already holds this content at shop/settings.yaml; no commit was needed.
c-retrying        False   ProviderUnavailable                            10s    https://localhost:8443/acme/broken.git              2030-01-02T03:04:05Z   1                    https://localhost:8443/acme/broken.git cannot answer at the moment (503); Commitlet retries automatically.
d-push-rejected   False   PushRejected                                   10s    https://localhost:8443/acme/other.git                                      1                    https://localhost:8443/acme/other.git refuses the commit and reports "main is protected: open a pull request"; use another branch or path, or ask a maintainer of the repository.
e-wrong-token     False   AuthenticationFailed                           10s    https://localhost:8443/acme/config.git              2030-01-02T03:04:05Z   1                    https://localhost:8443/acme/config.git does not accept the user name and token or password (401); put valid ones into the Secret.
f-fresh                                                                  10s    https://localhost:8443/acme/config.git                                     -1

`

exports[`test/e2e/print.test.ts > TAP > with a real API server > kubectl get > must match snapshot 1`] = `
NAME              READY   REASON                 BRANCH   COMMIT         AGE
a-succeeded       True    Succeeded              main     0123456789ab   10s
b-up-to-date      True    UpToDate               main     0123456789ab   10s
c-retrying        False   ProviderUnavailable                            10s
d-push-rejected   False   PushRejected                                   10s
e-wrong-token     False   AuthenticationFailed                           10s
f-fresh                                                                  10s

`
