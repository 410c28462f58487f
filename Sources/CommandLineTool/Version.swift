/// What `beckon --version` prints.
let version = "0.1.0"
