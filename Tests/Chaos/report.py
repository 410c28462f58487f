"""Prints the account."""


def print_causes(account):
    print(f"\n{'audio, s':<14}{'service':>10}{'card':>10}")
    print(f"{'heard':<14}{account.audio['heard']:>10.1f}")
    for cause, counted, seen in account.causes():
        print(f"{cause:<14}{counted:>10.1f}" + (f"{seen:>10.1f}" if seen is not None else ""))


def print_checks(checks):
    print(f"\n{'':8}{'counted':>16}  {'seen from outside'}")
    for one in checks:
        print(f"{'ok' if one.is_right else 'FAILED':<8}{one.counted:>16}  {one.seen:<34}  {one.what}")


def print_faults(turns):
    counts = {}
    for turn in turns:
        number, seconds = counts.get(turn.fault.name, (0, 0))
        counts[turn.fault.name] = number + 1, seconds + turn.seconds
    print("\nfaults, times, seconds of audio")
    for name, (number, seconds) in sorted(counts.items()):
        print(f"  {name:<22}{number:>5}{seconds:>9.1f}")
