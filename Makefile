# Every target calls the script of its name: bash and Python are all that is needed.
.PHONY: venv run test check bench soak docs

venv run test check bench soak docs:
	@scripts/$@
